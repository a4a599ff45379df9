import Foundation
import GatewayProto

/// The description of a session for its pages.
struct SessionDescription: Encodable {
    private struct Person: Encodable {
        let organization: String
        let userName: String
        let role: String
    }

    private enum Key: CodingKey {
        case user
        case deviceEndpoints
    }

    private let user: Person
    private let deviceEndpoints: any Encodable & Sendable

    init(_ session: Session, deviceEndpoints: any Encodable & Sendable) {
        user = Person(
            organization: session.user.organization, userName: session.user.userName, role: session.user.role)
        self.deviceEndpoints = deviceEndpoints
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(user, forKey: .user)
        try container.encode(deviceEndpoints, forKey: .deviceEndpoints)
    }
}

/// The token that a session's scripts must send; returned once, when the session begins.
struct SessionGrant: Encodable {
    let token: String
}
