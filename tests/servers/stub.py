"""A stub of a remote HTTP service."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from tests.servers.process import free_port


@contextmanager
def stub_server(
    routes: dict[str, tuple[int, dict[str, str], bytes]],
) -> Iterator[tuple[str, list[str]]]:
    """Serve `routes`, (status, headers, body) by path with query, and 404 for other paths. Yield
    the base URL and the list of the paths that were requested.
    """
    requested: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            requested.append(self.path)
            status, headers, body = routes.get(self.path, (404, {}, b"{}"))
            self.send_response(status)
            host = self.headers["Host"]
            for name, value in {
                "Content-Length": str(len(body)),
                "Connection": "close",
                **headers,
            }.items():
                self.send_header(name, value.format(host=host))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", free_port()), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", requested
        finally:
            server.shutdown()
            thread.join()
