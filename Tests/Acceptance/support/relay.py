"""Relays of connections in front of a cleartext listener."""

import socket
import ssl
import threading


class Relay:
    """Passes bytes on as they are."""

    def __init__(self, target: str, host: str = "127.0.0.1", port: int = 0):
        self.target = target.rsplit(":", 1)
        self._listener = socket.create_server((host, port))
        self.address = f"{host}:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        try:
            accepted = self._accepted(client)
            server = socket.create_connection((self.target[0], int(self.target[1])))
        except OSError:
            client.close()
            return
        threading.Thread(target=self._copy, args=(accepted, server), daemon=True).start()
        self._copy(server, accepted)

    def _accepted(self, client):
        """Returns the connection of a client after the handshake, if there is one."""
        return client

    @staticmethod
    def _copy(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        # Wakes the thread that accepts.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


class TLSRelay(Relay):
    """Ends TLS, like a proxy at a gateway's new address."""

    def __init__(self, target: str, certificate, key):
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate, key)
        self._context.set_alpn_protocols(["h2"])
        super().__init__(target)

    def _accepted(self, client):
        return self._context.wrap_socket(client, server_side=True)
