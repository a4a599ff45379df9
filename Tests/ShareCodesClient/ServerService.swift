// swift-format-ignore-file
// The calls of the app, as its documentation has them.
import Foundation
import FoundationNetworking

class ServerService: ObservableObject {
@AppStorage("serverURL") private var serverURL: String = ""
private var baseURL: String {
return serverURL.isEmpty ? "https://um.dazitai.com" : serverURL
}
// 检查分享码唯一性
func checkShareCodeUniqueness(_ shareCode: String) async throws -> Bool {
let url = URL(string: "\(baseURL)/api/share-code/check")!
var request = URLRequest(url: url)
request.httpMethod = "POST"
request.setValue("application/json", forHTTPHeaderField: "Content-Type")
let body = ["shareCode": shareCode]
request.httpBody = try JSONEncoder().encode(body)
let (data, response) = try await URLSession.shared.data(for: request)
guard let httpResponse = response as? HTTPURLResponse,
httpResponse.statusCode == 200 else {
throw ServerError.invalidResponse
}
let result = try JSONDecoder().decode(CheckResponse.self, from: data)
return result.isUnique
}
// 发送状态请求
func sendStatusRequest(_ request: StatusRequest) async throws {
let url = URL(string: "\(baseURL)/api/status-request")!
var urlRequest = URLRequest(url: url)
urlRequest.httpMethod = "POST"
urlRequest.setValue("application/json", forHTTPHeaderField: "Content-Type")
urlRequest.httpBody = try JSONEncoder().encode(request)
let (_, response) = try await URLSession.shared.data(for: urlRequest)
guard let httpResponse = response as? HTTPURLResponse,
httpResponse.statusCode == 200 else {
throw ServerError.requestFailed
}
}
}
