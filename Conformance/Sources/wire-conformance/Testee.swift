import Foundation
import Proto
import Wire

/// The program under test: reads length-prefixed ConformanceRequest messages from standard input, and writes one
/// ConformanceResponse for each to standard output.
@main
enum Testee {
    static func main() throws {
        let mapping = JSONMapping(schema: try Schema(SuiteFiles.all + ProtoFiles.all))
        while let request = try readMessage() {
            let response = respond(to: try ConformanceRequest(decoding: request), mapping).encoded()
            var length = UInt32(response.count).littleEndian
            FileHandle.standardOutput.write(Data(bytes: &length, count: 4) + response)
        }
    }

    /// Returns `nil` at the end of the input, with which the runner ends the test.
    private static func readMessage() throws -> [UInt8]? {
        guard let prefix = try FileHandle.standardInput.read(upToCount: 4), prefix.count == 4 else { return nil }
        let length = prefix.reversed().reduce(0) { $0 << 8 | Int($1) }
        if length == 0 { return [] }
        return [UInt8](try FileHandle.standardInput.read(upToCount: length) ?? Data())
    }

    private static func respond(to request: ConformanceRequest, _ mapping: JSONMapping) -> ConformanceResponse {
        switch request.messageType {
        case FailureSet.fullName: ConformanceResponse(result: .protobufPayload(FailureSet().encoded()))
        case TestAllTypesProto3.fullName: respond(to: request, mapping, as: TestAllTypesProto3.self)
        default: ConformanceResponse(result: .skipped("proto2"))
        }
    }

    private static func respond<M: Message>(
        to request: ConformanceRequest, _ mapping: JSONMapping, as type: M.Type
    ) -> ConformanceResponse {
        let message: M
        do {
            switch request.payload {
            case .protobufPayload(let bytes): message = try M(decoding: bytes)
            case .jsonPayload(let json):
                let ignoresUnknown = request.testCategory == .jsonIgnoreUnknownParsingTest
                message = try mapping.message(from: [UInt8](json.utf8), ignoresUnknownFields: ignoresUnknown)
            case .jspbPayload, .textPayload, nil: return ConformanceResponse(result: .skipped("no such format"))
            }
        } catch {
            return ConformanceResponse(result: .parseError("\(error)"))
        }
        switch request.requestedOutputFormat {
        case .protobuf: return ConformanceResponse(result: .protobufPayload(message.encoded()))
        case .json:
            do {
                let json = try mapping.text(message)
                return ConformanceResponse(result: .jsonPayload(String(decoding: json, as: UTF8.self)))
            } catch {
                return ConformanceResponse(result: .serializeError("\(error)"))
            }
        case .unspecified, .jspb, .textFormat, .unrecognized:
            return ConformanceResponse(result: .skipped("no such format"))
        }
    }
}
