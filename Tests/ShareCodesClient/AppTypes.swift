/// The types that the app's documentation uses and does not show.
struct CheckResponse: Codable {
    let isUnique: Bool
    let shareCode: String
}

struct StatusRequest: Codable {
    let requestId: String
    let fromUserId: String
    let toUserId: String
    let message: String
}

enum ServerError: Error {
    case invalidResponse
    case requestFailed
}
