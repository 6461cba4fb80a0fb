"""TLS in front of a server that has none: takes connections with a certificate, and hands them on."""

import contextlib
import socket
import ssl
import threading


class TlsFront:
    """A listener, and a pair of threads for each connection. A block ends it."""

    def __init__(self, certificate: str, key: str):
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate, key)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._behind = ("", 0)

    def before(self, address: str) -> "TlsFront":
        """Begins to hand connections on."""
        host, port = address.rsplit(":", 1)
        self._behind = (host, int(port))
        threading.Thread(target=self._run, daemon=True).start()
        return self

    def _run(self) -> None:
        while True:
            try:
                plain, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(plain,), daemon=True).start()

    def _serve(self, plain: socket.socket) -> None:
        # A client that does not accept the certificate, or speaks no TLS, hangs up.
        with contextlib.suppress(OSError), plain, \
                self._context.wrap_socket(plain, server_side=True) as client, \
                socket.create_connection(self._behind) as behind:
            back = threading.Thread(target=pump, args=(behind, client), daemon=True)
            back.start()
            pump(client, behind)
            back.join()

    def __enter__(self) -> "TlsFront":
        return self

    def __exit__(self, *_) -> None:
        self._listener.close()


def pump(source: socket.socket, sink: socket.socket) -> None:
    """Copies until either ends."""
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_RDWR)
