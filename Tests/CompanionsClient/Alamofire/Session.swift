// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation
import FoundationNetworking

/// A stand-in for the parts of the library Alamofire that the app uses, since it is not for Linux. All requests go to one server.
public final class Session: Sendable {
    /// The server; set once, before the app's code runs.
    nonisolated(unsafe) public static var server = URL(fileURLWithPath: "/")

    /// Sends parameters as `application/x-www-form-urlencoded`, in the order of their names.
    public func request<Parameters: Encodable>(
        _ url: String, method: HTTPMethod, parameters: Parameters
    ) -> DataRequest {
        var request = Self.request(to: url)
        request.httpMethod = method.rawValue
        request.setValue("application/x-www-form-urlencoded; charset=utf-8", forHTTPHeaderField: "Content-Type")
        let data = try? JSONEncoder().encode(parameters)
        let values = data.flatMap { try? JSONSerialization.jsonObject(with: $0) } as? [String: Any] ?? [:]
        let pairs = values.sorted { $0.key < $1.key }.map { "\(Self.escape($0.key))=\(Self.escape("\($0.value)"))" }
        request.httpBody = Data(pairs.joined(separator: "&").utf8)
        return DataRequest(request)
    }

    public func upload(multipartFormData build: (MultipartFormData) -> Void, to url: String) -> DataRequest {
        let form = MultipartFormData()
        build(form)
        var request = Self.request(to: url)
        request.httpMethod = "POST"
        request.setValue("multipart/form-data; boundary=\(form.boundary)", forHTTPHeaderField: "Content-Type")
        request.httpBody = form.encoded
        return DataRequest(request)
    }

    private static func request(to url: String) -> URLRequest {
        URLRequest(url: server.appendingPathComponent(URL(string: url)?.path ?? ""))
    }

    private static func escape(_ text: String) -> String {
        let unreserved = CharacterSet(charactersIn: "-._~").union(
            .alphanumerics.intersection(CharacterSet(charactersIn: "\u{21}"..."\u{7E}")))
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}

public let AF = Session()

public struct HTTPMethod: Sendable {
    public static let post = HTTPMethod(rawValue: "POST")

    public let rawValue: String
}

/// A request that is sent when somebody wants its response.
public final class DataRequest: Sendable {
    private let request: URLRequest

    init(_ request: URLRequest) {
        self.request = request
    }

    public func responseJSON(completionHandler: @escaping (DataResponse) -> Void) {
        URLSession.shared.dataTask(with: request) { data, _, _ in completionHandler(DataResponse(data: data)) }.resume()
    }
}

public struct DataResponse: Sendable {
    public let data: Data?
}
