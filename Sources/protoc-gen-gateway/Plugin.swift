import Foundation
import Protobuf

/// The protoc plugin: a CodeGeneratorRequest comes on standard input, the response goes to standard output.
@main
enum Plugin {
    static func main() throws {
        let input = [UInt8](FileHandle.standardInput.readDataToEndOfFile())
        let request = try CodeGeneratorRequest(decoding: input)
        FileHandle.standardOutput.write(Data(respond(to: request).encoded()))
    }

    /// What is wrong with the files or the options goes into the response: protoc prints it and fails.
    private static func respond(to request: CodeGeneratorRequest) -> CodeGeneratorResponse {
        var response = CodeGeneratorResponse()
        response.supportedFeatures = UInt64(CodeGeneratorResponse.Feature.proto3Optional.rawValue)
        do {
            let options = try PluginOptions(parameter: request.parameter ?? "")
            response.file = try Generator(request: request, options: options).files()
        } catch {
            response.error = "\(error)"
        }
        return response
    }
}

/// Something in the request that the plugin cannot turn into code; `description` is for the author of the file.
struct PluginError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
