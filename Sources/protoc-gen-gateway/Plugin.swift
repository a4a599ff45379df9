import Basics
import Glibc
import Protobuf

/// The protoc plugin: reads a CodeGeneratorRequest from standard input and writes the response to standard output.
@main
enum Plugin {
    static func main() throws {
        let input = try OpenFile.read(STDIN_FILENO)
        let request = try CodeGeneratorRequest(decoding: input)
        try OpenFile.write(respond(to: request).encoded(), to: STDOUT_FILENO)
    }

    /// Returns the response. Errors in the files or the options are part of it: protoc prints them and fails.
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

/// An error in the request; `description` is for the author of the file.
struct PluginError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
