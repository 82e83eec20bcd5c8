"""The lines of the units and the limits of the alerts, gunicorn and nginx, as they were decided.

Most show in no test of behaviour if they are lost. Change one here only with its reason in that
file.
"""

import re
import runpy
from typing import Any

import pytest
import yaml
from django.core.management import get_commands, load_command_class

from tests.deploy.test_units import COMPOSE, DEPLOY, SERVICES, TIMERS

PYTHON = "/srv/jobsite/.venv/bin/python manage.py"
COMMON = [
    "User=jobsite",
    "Group=jobsite",
    "WorkingDirectory=/srv/jobsite",
    "EnvironmentFile=/etc/jobsite/env",
]
NIGHTLY = ["After=postgresql.service", "Type=oneshot", *COMMON]
ALWAYS = ["Wants=network-online.target", "StartLimitIntervalSec=0"]
OWN = {
    "jobsite": [
        "After=network-online.target postgresql.service redis-server.service",
        *ALWAYS,
        "Type=notify",
        "NotifyAccess=main",
        *COMMON,
        f"ExecStartPre={PYTHON} check --deploy",
        "ExecStart=/srv/jobsite/.venv/bin/gunicorn -c deploy/gunicorn.conf.py",
        f"ExecReload={PYTHON} check --deploy",
        "ExecReload=/srv/jobsite/deploy/reload.sh $MAINPID",
        "KillMode=mixed",
        "TimeoutStartSec=3min",
        "TimeoutStopSec=40",
        "Restart=always",
        "RestartSec=3",
        "LimitNOFILE=16384",
        "OOMPolicy=continue",
        "WantedBy=multi-user.target",
    ],
    "jobsite-deliver": [
        "After=network-online.target postgresql.service",
        *ALWAYS,
        *COMMON,
        f"ExecStart={PYTHON} deliver",
        "Restart=always",
        "RestartSec=5",
        "TimeoutStopSec=6min",
        "WantedBy=multi-user.target",
    ],
    "jobsite-maintain": [
        *NIGHTLY,
        f"ExecStart={PYTHON} maintain_lists",
        f"ExecStart={PYTHON} update_statistics",
        "TimeoutStartSec=50min",
        "Nice=10",
    ],
    "jobsite-purge": [
        "After=postgresql.service jobsite-backup.service",
        *NIGHTLY[1:],
        f"ExecStart={PYTHON} purge",
        "TimeoutStartSec=2h",
        "Nice=10",
    ],
    "jobsite-backup": [
        # Else the disk fills.
        *NIGHTLY,
        f"ExecStart={PYTHON} backup /var/lib/jobsite/backups --keep 14",
        "TimeoutStartSec=6h",
        "Nice=10",
        "IOSchedulingClass=idle",
    ],
}
WHEN = {
    "jobsite-backup": ["OnCalendar=*-*-* 01:30:00", "RandomizedDelaySec=30min"],
    "jobsite-maintain": ["OnCalendar=hourly", "RandomizedDelaySec=5min"],
    "jobsite-purge": ["OnCalendar=*-*-* 03:30:00", "RandomizedDelaySec=30min"],
}
YES = (
    "NoNewPrivileges ProtectHome PrivateTmp PrivateDevices PrivateMounts PrivateUsers "
    "ProtectClock ProtectControlGroups ProtectHostname ProtectKernelLogs ProtectKernelModules "
    "ProtectKernelTunables LockPersonality MemoryDenyWriteExecute RemoveIPC RestrictNamespaces "
    "RestrictRealtime RestrictSUIDSGID"
)
SANDBOX = sorted(
    [
        *(f"{name}=yes" for name in YES.split()),
        "CapabilityBoundingSet=",
        "AmbientCapabilities=",
        "ProtectSystem=strict",
        "ReadWritePaths=/srv/jobsite/media",
        "StateDirectory=jobsite",
        "UMask=0022",
        "ProtectProc=invisible",
        "ProcSubset=pid",
        "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX",
        "SystemCallArchitectures=native",
        "SystemCallFilter=@system-service",
        "SystemCallFilter=~@privileged @resources",
        "SystemCallFilter=@chown",
        "SystemCallErrorNumber=EPERM",
    ]
)
GUNICORN = {
    "worker_class": "gthread",
    "preload_app": False,
    "max_requests": 200_000,
    "max_requests_jitter": 50_000,
    "worker_tmp_dir": "/dev/shm",
    "control_socket_disable": True,
    "timeout": 10,
    "LOADING_MAX": 60,
    "graceful_timeout": 30,
    "keepalive": 75,
    "secure_scheme_headers": {"X-FORWARDED-PROTO": "https"},
    "forwarder_headers": "",
    "forwarded_allow_ips": "127.0.0.1,::1",
    "limit_request_line": 8190,
    "bind": "127.0.0.1:8000",
    "workers": 2,
    "threads": 4,
    "wsgi_app": "jobsite.wsgi",
}
NGINX = """
server_tokens off;  absolute_redirect off;  underscores_in_headers off;  worker_rlimit_nofile 16384;
limit_req_zone $client zone=requests:10m rate=50r/s;  limit_req zone=requests burst=200 nodelay;
limit_req_status 429;  limit_conn_zone $client zone=connections:10m;  limit_conn connections 100;
limit_conn_status 429;  client_header_timeout 5s;  client_body_timeout 5s;  send_timeout 10s;
keepalive_timeout 30s;  reset_timedout_connection on;  client_header_buffer_size 2k;
large_client_header_buffers 4 8k;  client_max_body_size 64k;  client_max_body_size 25m;
client_max_body_size 26m;  client_body_timeout 20s;  client_body_buffer_size 64k;
server 127.0.0.1:8000 max_fails=5 fail_timeout=1s;  keepalive 32;  proxy_http_version 1.1;
proxy_set_header Connection "";  proxy_set_header Host $host;  proxy_set_header X-Forwarded-For $remote_addr;
proxy_set_header X-Forwarded-Proto $scheme;  proxy_set_header X-Forwarded-Host "";
proxy_set_header Forwarded "";  proxy_connect_timeout 1s;  proxy_read_timeout 60s;
proxy_next_upstream error timeout;  proxy_next_upstream_tries 2;  proxy_next_upstream_timeout 5s;
proxy_cache_key $half_second$scheme://$host$request_uri;  proxy_cache_lock on;  proxy_cache_min_uses 2;
proxy_cache_lock_timeout 10ms;  proxy_cache_bypass $http_authorization $http_cookie $is_negotiated;
proxy_no_cache $http_authorization $http_cookie $is_negotiated;  max_ranges 0;  deny all;
ssl_protocols TLSv1.2 TLSv1.3;  ssl_session_tickets off;  return 308 https://$server_name$request_uri;
"""

# By alert: severity, `for`, and what decides of the expression: selections, ranges, comparisons.
DECIDES = re.compile(
    r"\{[^}]*\}|\[\w+\]|offset \w+|\b(?:and|or)\b|absent|(?:[<>]|[=!<>]=) [\d.]+(?: \* \d+)?|, "
    r"\d+|\b0\.99\b"
    r"|\b(?:max|sum|abs|delta|increase|rate)\b"
)
ALERTS = {
    "JobsLate": "ticket 2m: max > 600 or max == 1",
    "EmailsWait": 'ticket 1m: max {work="email"} > 600 or max {work="email"} [15m] > 20',
    "SiteDown": 'page 1m: {job="jobsite-outside"} == 0',
    "NodeDown": 'page 2m: {job="jobsite"} == 0',
    "NotReady": "page 5m: == 0",
    "DatabaseDown": "page 1m: == 0",
    "Errors": (
        'page 2m: sum rate {status=~"5.."} [5m] sum rate [5m] > 0.01 and sum increase '
        '{status=~"5.."} [5m] > 10'
    ),
    "SomeErrors": 'ticket 0m: sum increase {status=~"5.."} [1h] > 0',
    "Slow": (
        'page 10m: 0.99 sum rate {operation=~"v1:.*|v0_1:.*"} [5m] > 0.5 and sum rate '
        '{operation=~"v1:.*|v0_1:.*"} [5m] > 0.1'
    ),
    "NothingKept": (
        'ticket 30m: sum rate {source="cache"} [15m] sum rate {operation=~"v1:vacancy.*|v0_1:.*"} '
        '[15m] < 0.1 and sum rate {operation=~"v1:vacancy.*|v0_1:.*"} [15m] > 50'
    ),
    "NoReplica": "page 2m: == 0",
    "CacheLost": "ticket 5m: == 0",
    "MaintenanceOverdue": "ticket 10m: max > 10800",
    "EmailsFail": 'ticket 0m: max delta {work="email"} [1h] > 10',
    "FilesMissing": "page 5m: > 0",
    "NothingListed": 'page 5m: {list="external"} == 0 and {list="external"} offset 1h > 10',
    "Lockouts": 'ticket 0m: sum increase {outcome="locked_out"} [15m] > 20',
    "Throttled": 'ticket 10m: sum rate {status="429"} [10m] sum rate [10m] > 0.2',
    "DiskFull": (
        'page 10m: {fstype!~"tmpfs|overlay|squashfs"} {fstype!~"tmpfs|overlay|squashfs"} < 0.1'
    ),
    "DiskFullTomorrow": 'ticket 1h: {fstype!~"tmpfs|overlay|squashfs"} [6h] , 86400 < 0',
    "BackupOld": (
        'ticket 10m: {name="jobsite-backup.timer"} > 93600 or {name="jobsite-backup.service", '
        'state="failed"} == 1 or absent {name="jobsite-backup.timer"}'
    ),
    "PurgeFailed": 'ticket 10m: {name="jobsite-purge.service", state="failed"} == 1',
    "CertificateEnds": 'ticket 1h: {job="jobsite-outside"} < 14 * 86400',
    "ClockSkew": "ticket 15m: abs > 0.5 or == 0",
    "ClusterPartDown": 'page 2m: {job=~"haproxy|patroni|etcd"} == 0 or == 0 or == 0',
    "NoPrimary": 'page 1m: {proxy="primary"} == 0',
    "NoStandby": "page 2m: sum == 0",
    "FewReplicas": 'ticket 10m: {proxy="replica"} < 2',
    "PatroniPaused": "ticket 1h: max == 1",
}


def lines(path: Any) -> list[str]:
    """Return the settings of a unit, without its texts."""
    found = re.findall(r"^(?!Description|Documentation)\w+=.*$", path.read_text(), re.MULTILINE)
    return [line.rstrip() for line in found]


def test_units_have_the_decided_lines():
    assert {path.stem: lines(path) for path in SERVICES} == OWN
    assert sorted(lines(DEPLOY / "jobsite-.service.d/sandbox.conf")) == SANDBOX
    timers = {path.stem: lines(path) for path in TIMERS}
    assert timers == {
        name: [*each, "Persistent=true", "WantedBy=timers.target"] for name, each in WHEN.items()
    }


def test_commands_of_units_and_containers_are_equal_and_have_these_options():
    of_units = {path.stem: re.findall(r"manage\.py (.*)", path.read_text()) for path in SERVICES}
    jobs = ("maintain", "purge", "backup", "deliver")
    commands = {name: " ".join(COMPOSE["services"][name]["command"]) for name in jobs}
    in_containers = {
        name: re.findall(r"manage\.py (.*?)(?= &&|$)", text) for name, text in commands.items()
    }
    assert in_containers == {name: of_units[f"jobsite-{name}"] for name in jobs}
    for command in {line for found in of_units.values() for line in found}:
        name, *words = command.split()
        app = get_commands()[name]
        loaded = load_command_class(app, name) if isinstance(app, str) else app
        loaded._called_from_command_line = False
        try:
            loaded.create_parser("manage.py", name).parse_args(words)
        except Exception as error:  # CommandError
            pytest.fail(f"{command}: {error}")


def test_alerts_have_the_decided_limits():
    groups = yaml.safe_load((DEPLOY / "alerts.yaml").read_text())["groups"]
    found = {
        rule["alert"]: f"{rule['labels']['severity']} {rule.get('for', '0m')}: "
        + " ".join(DECIDES.findall(rule["expr"]))
        for group in groups
        for rule in group["rules"]
    }
    assert {name: found.get(name) for name in ALERTS} == ALERTS


def test_gunicorn_and_nginx_have_the_decided_limits(monkeypatch):
    for name in ("BIND", "WEB_CONCURRENCY", "WEB_THREADS", "TRUSTED_PROXIES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("gunicorn.util.write_error", None)  # which the configuration replaces
    found = runpy.run_path(str(DEPLOY / "gunicorn.conf.py"))
    assert {name: found.get(name) for name in GUNICORN} == GUNICORN

    text = (DEPLOY / "nginx.conf").read_text()
    directives = [line.partition("  #")[0].strip() for line in text.splitlines()]
    assert [each for each in re.split(r"\s{2,}|\n", NGINX.strip()) if each not in directives] == []
    # in each location that answers itself, as add_header of an outer level does not count there
    assert directives.count("add_header X-Content-Type-Options nosniff;") == 2
    assert directives.count("add_header X-Content-Type-Options nosniff always;") == 2
    assert sum(each.startswith("add_header Content-Security-Policy ") for each in directives) == 3
    assert directives.count("internal;") == 4
