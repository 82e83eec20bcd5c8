"""Kernel: checks by HTTP whether a running service, ours or another, conforms to the API.

Each response is checked against the OpenAPI document that the service publishes; what a schema
cannot state, pages that continue each other for example, by hand.
"""
