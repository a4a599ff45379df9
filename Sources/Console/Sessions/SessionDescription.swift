import Foundation

/// What a page knows of its session.
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

/// What a session's scripts have to show; told once, at its beginning.
struct SessionGrant: Encodable {
    let token: String
}

/// What somebody who wants to sign in sends.
struct SignIn: Decodable {
    static let form = #"{"organization": …, "userName": …, "password": …}"#

    let organization: String
    let userName: String
    let password: String

    init?(json: [UInt8]) {
        guard let read = try? JSONDecoder().decode(Self.self, from: Data(json)) else { return nil }
        self = read
    }
}
