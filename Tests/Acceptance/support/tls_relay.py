"""A relay that ends TLS in front of a cleartext listener, like a proxy at a gateway's new address."""

import socket
import ssl
import threading


class TLSRelay:
    def __init__(self, target: str, certificate, key):
        self.target = target.rsplit(":", 1)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate, key)
        self._context.set_alpn_protocols(["h2"])
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
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
            secure = self._context.wrap_socket(client, server_side=True)
            server = socket.create_connection((self.target[0], int(self.target[1])))
        except OSError:
            client.close()
            return
        threading.Thread(target=self._copy, args=(secure, server), daemon=True).start()
        self._copy(server, secure)

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
