"""TLS in front of a server that has none, and the other way round: takes connections, with or
without a certificate, and hands them on."""

import contextlib
import socket
import ssl
import threading


class TlsFront:
    """A listener, and a pair of threads for each connection. A block ends it."""

    def __init__(self, certificate: str, key: str):
        self._listen()
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate, key)

    def _listen(self) -> None:
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

    def _client(self, accepted: socket.socket) -> socket.socket:
        return self._context.wrap_socket(accepted, server_side=True)

    def _server(self) -> socket.socket:
        return socket.create_connection(self._behind)

    def _serve(self, accepted: socket.socket) -> None:
        # A client that does not accept the certificate, or speaks no TLS, hangs up.
        with contextlib.suppress(OSError), accepted, self._client(accepted) as client, \
                self._server() as behind:
            back = threading.Thread(target=pump, args=(behind, client), daemon=True)
            back.start()
            pump(client, behind)
            back.join()

    def __enter__(self) -> "TlsFront":
        return self

    def __exit__(self, *_) -> None:
        self._listener.close()


class PlainFront(TlsFront):
    """For a client without TLS: the server's certificate has to come from these roots."""

    def __init__(self, roots: str):  # pylint: disable=super-init-not-called
        self._listen()
        self._context = ssl.create_default_context(cafile=roots)
        self._context.set_alpn_protocols(["h2"])

    def _client(self, accepted: socket.socket) -> socket.socket:
        return accepted

    def _server(self) -> socket.socket:
        return self._context.wrap_socket(super()._server(), server_hostname=self._behind[0])


def pump(source: socket.socket, sink: socket.socket) -> None:
    """Copies until either ends."""
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_RDWR)
