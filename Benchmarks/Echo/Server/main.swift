import EventLoops
import Foundation
import HTTPTypes
import RPC
import Sockets

// Serves `benchmark.Echo` through the whole stack on one event loop, on a free loopback port, and reports it in the form of the
// gateway's ready line until a signal ends it. Uses TLS if two arguments name the certificate file and the key file.
struct EchoService: EchoHandler {
    func say(_ request: EchoMessage, context: CallContext) async throws -> EchoMessage { request }
}

signal(SIGPIPE, SIG_IGN)
var router = Router()
EchoService().register(in: &router)
var limits = RPCLimits()
limits.maxConnectionsPerAddress = 10_000
let files = CommandLine.arguments.dropFirst()
let certificates =
    files.count == 2
    ? try TLSCertificates(TLSCertificates.Files(certificate: files[1], key: files[2])) : nil
let listener = try RPCListener(
    PeerAddress(host: "127.0.0.1", port: 0),
    server: RPCServer(router: router, interceptors: [TrustedProxies([])], limits: limits),
    loops: [EventLoop(name: "loop")], certificates: certificates)
let ready = "{\"event\":\"ready\",\"listeners\":{\"echo\":\"\(listener.address)\"}}\n"
FileHandle.standardOutput.write(Data(ready.utf8))
while true { pause() }
