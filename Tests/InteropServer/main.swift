import EventLoops
import Foundation
import HTTPServer
import HTTPTypes
import RPC
import Sockets
import ThreadCalls
import Wire

// Serves `grpc.testing.TestService` on two free loopback ports, over HTTP/2 and over HTTP/1.1, and reports them in the form of the
// gateway's ready line until a signal ends it. Uses TLS if two arguments name the certificate file and the key file.
signal(SIGPIPE, SIG_IGN)
var router = Router()
TestService().register(in: &router)
let loops = (1...2).map { EventLoop(name: "loop \($0)") }
let files = CommandLine.arguments.dropFirst()
let certificates =
    files.count == 2
    ? try TLSCertificates(
        TLSCertificates.Files(certificate: files[1], key: files[2]), companion: TLSIdentity.companion) : nil
let schema = try Schema([.grpcTestingEmptyProto, .grpcTestingMessagesProto])
var limits = RPCLimits()
// All clients have the same address here.
limits.maxRequestBytesPerAddress = limits.maxRequestBytes
limits.maxResponseBytesPerAddress = limits.maxResponseBytes
let server = RPCServer(router: router, limits: limits, web: WebProtocols(json: JSONMapping(schema: schema)))
let listener = try RPCListener(
    PeerAddress(host: "127.0.0.1", port: 0), server: server, loops: loops, certificates: certificates)
var daemon = HTTPServerConfiguration()
daemon.certificates = certificates
let web = try HTTPDaemon(
    host: "127.0.0.1", port: 0, configuration: daemon, handler: RPCRequestHandler(server: server, loops: loops))
let ready = """
    {"event":"ready","listeners":{"interop":"\(listener.address)","web":"\(web.host):\(web.port)"}}

    """
FileHandle.standardOutput.write(Data(ready.utf8))
while true { pause() }
