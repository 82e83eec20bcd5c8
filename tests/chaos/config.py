"""Settings of the chaos harness:
the site's environment, accounts, and the staleness that is tolerated.
"""

BASE = "http://jobs.test"  # PUBLIC_BASE_URL: all nodes return the same links
MAX_STALENESS = 6.0  # seconds: the lag limit of deploy/cluster/haproxy.cfg, and its checks
RECRUITER, PASSWORD = "recruiter@jobs.test", "only-for-chaos-tests-9"
APPLICANT = "applicant@jobs.test"
ENV = {
    "SECRET_KEY": "only-for-chaos-tests-0123456789" * 2,
    "ALLOWED_HOSTS": "jobs.test,127.0.0.1",
    "PUBLIC_BASE_URL": BASE,
    "RATE_LIMIT": "1000000/min",  # uses Redis for each request and is never reached
    "APPLY_PROOF": "off",
    "TRUSTED_PROXIES": "127.0.0.1/32",
    "DJANGO_SETTINGS_MODULE": "jobsite.settings",
}
