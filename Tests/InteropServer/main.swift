import Foundation
import Network
import RPC

// Serves `grpc.testing.TestService` on a free port of the loopback, says so in the way of the gateway's ready line, and
// goes on until a signal ends it. Over TLS where two arguments name the certificate's and the key's file.
signal(SIGPIPE, SIG_IGN)
var router = Router()
TestService().register(in: &router)
let loops = (1...2).map { EventLoop(name: "loop \($0)") }
let files = CommandLine.arguments.dropFirst()
let certificates =
    files.count == 2
    ? try TLSCertificates(TLSCertificates.Files(certificate: files[1], key: files[2])) : nil
let listener = try RPCListener(
    PeerAddress(host: "127.0.0.1", port: 0), server: RPCServer(router: router), loops: loops,
    certificates: certificates)
let ready = "{\"event\":\"ready\",\"listeners\":{\"interop\":\"\(listener.address)\"}}\n"
FileHandle.standardOutput.write(Data(ready.utf8))
while true { pause() }
