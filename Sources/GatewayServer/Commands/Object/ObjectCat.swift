import Basics
import CommandLineInterface
import DeviceCommands
import Glibc
import HTTPClient
import StoreClient

/// `data-gateway object cat`
struct ObjectCat: Command {
    static let name = "cat"
    static let summary = "Write the bytes of an object to standard output"
    static let discussion = [
        "The exit code is 1 if the received bytes are incomplete or do not match the object's checksum."
    ]
    static let examples = ["object cat notes.log"]

    static var parameters: [Parameter<Self>] {
        [.argument("OBJECT", \.object, "The object: a file id, the id of an upload, a name or a filter")]
            + ConnectionOptions.parameters(of: .gateway).map { $0.at(\.connection) }
    }

    var object = ""
    var connection = ConnectionOptions()

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await Interruption.cancelling {
            await environment.attempt(asJSON: connection.json) {
                let source = DownloadSource(connection, environment)
                let found = try ObjectLookup.only(try await source.find(object, needsDetails: false), of: object)
                do {
                    let file = try await source.file(found)
                    let location = if let known = file.location { known } else { try await source.location(of: found) }
                    try await write(file, at: location, environment)
                } catch let failure as ClientFailure {
                    throw failure
                } catch {
                    throw ClientFailure(error, file: object, hint: "try again later")
                }
            }
        }
    }

    private func write(
        _ file: RemoteFile, at location: FileDownload.Location, _ environment: CommandEnvironment
    ) async throws {
        let content = ReceivedContent()
        let authorities = ListenerTrust(current: environment).authorityFile
        let reply = try await HTTPConnection(HTTPConnection.Options(authorities: authorities)).exchange(
            HTTPRequest("GET", location.url, fields: location.fields),
            receiver: HTTPReceiver { status, _ in
                status == 200
            } receive: { bytes in
                content.digest.update(bytes)
                content.count += Int64(bytes.count)
                do throws(PrivateFile.Failure) {
                    try OpenFile.write(bytes, to: STDOUT_FILENO)
                } catch {
                    throw ClientFailure(standardOutput: error)
                }
            })
        guard reply.status == 200 else {
            throw ClientFailure("the object store refused the download (HTTP status \(reply.status))")
        }
        guard content.count == file.size else {
            throw ClientFailure("\(content.count) of \(file.size) bytes were received", exitCode: .unreachable)
        }
        guard file.crc64 == nil || content.digest.crc64 == file.crc64 else {
            throw ClientFailure("the received bytes do not match the object's checksum (CRC-64)")
        }
    }
}

/// The state of the received bytes; written during the exchange, on its thread, and read afterwards.
private final class ReceivedContent: @unchecked Sendable {  // one thread writes, and its end is waited for
    var digest = ContentDigest()
    var count: Int64 = 0
}
