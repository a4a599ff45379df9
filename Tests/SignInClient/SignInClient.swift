import Foundation
import FoundationNetworking

/// An app's side of the sign-in, as its developers write it: an access token in memory, a refresh token in a store that survives, and
/// one retry of a call after a refresh. It uses nothing of this package.
///
/// `sign-in-client URL dev SECRET` or `sign-in-client URL apple IDENTITY-TOKEN`; prints each step, and exits with 1 at the first that
/// does not end as an app expects.
@main struct SignInClient {
    static func main() async {
        let words = CommandLine.arguments.dropFirst()
        guard words.count == 3, let url = words.first.flatMap({ URL(string: $0) }) else {
            return finish(2, "sign-in-client URL dev|apple SECRET|TOKEN")
        }
        do {
            let session = AppSession(api: Api(base: url), store: TokenStore())
            try await walk(session, by: words[words.startIndex + 1], words[words.startIndex + 2])
            finish(0, "done")
        } catch {
            finish(1, "\(error)")
        }
    }

    /// Follows an app from its first start to the sign-out.
    private static func walk(_ session: AppSession, by way: String, _ proof: String) async throws {
        try expect(await session.checkSession() == .signedOut, "the first start shows the sign-in page")
        if way == "dev" {
            try await session.signIn(
                "api/auth/dev-login", ["email": "test@zhixi.app", "nickname": "测试用户", "devSecret": proof])
        } else {
            try await session.signIn(
                "api/auth/apple", ["identityToken": proof, "nickname": "测试用户", "userIdentifier": "000123.forged"])
        }
        let id = session.user?.id
        try expect(session.user?.nickname == "测试用户", "the session has the user")

        // A start later on: only the store has survived.
        let later = AppSession(api: session.api, store: session.store)
        try expect(await later.checkSession() == .signedIn, "a later start refreshes and reads the user")
        try expect(later.user?.id == id, "the later start has the same user")

        // The access token has ended: 401, refresh, and the same call once more.
        later.accessToken = "eyJhbGciOiJFUzI1NiJ9.e30.AAAA"
        let refreshed = session.store.refreshToken
        let user: User = try await later.call("GET", "api/users/me")
        try expect(user.id == id, "a call with a token that has ended is repeated after a refresh")
        try expect(session.store.refreshToken != refreshed, "the refresh rotates the refresh token")

        try await later.signOut()
        try expect(await later.checkSession() == .signedOut, "a start after the sign-out shows the sign-in page")
        do {
            let _: User = try await later.call("GET", "api/users/me")
            throw Failure("a call after the sign-out is refused")
        } catch let refusal as Refusal {
            try expect(refusal.statusCode == 401, "a call after the sign-out is 401")
        }
    }

    private static func expect(_ isTrue: Bool, _ claim: String) throws {
        guard isTrue else { throw Failure(claim) }
        print(claim)
    }

    private static func finish(_ code: Int32, _ text: String) {
        print(text)
        exit(code)
    }
}

struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ claim: String) { description = "not so: \(claim)" }
}

/// A user as the server describes them; `Codable` fails if a member that is not optional is missing.
struct User: Codable {
    let id: String
    let email: String?
    let nickname: String?
    let avatarUrl: String?
    let role: String
    let status: String
    let onboardingCompleted: Bool
}

struct Session: Codable {
    let accessToken: String
    let refreshToken: String
    let user: User
}

struct Tokens: Codable {
    let accessToken: String
    let refreshToken: String
}

struct Done: Codable {
    let success: Bool
}

/// An error of the server.
struct Refusal: Error, Codable {
    let message: String
    let error: String
    let statusCode: Int
}

/// The place of the refresh token, which is the keychain on a phone.
final class TokenStore {
    var refreshToken: String?
}

struct Api {
    let base: URL

    func send<Reply: Decodable>(
        _ method: String, _ path: String, token: String?, body: [String: String]? = nil
    ) async throws -> Reply {
        var request = URLRequest(url: base.appendingPathComponent(path))
        request.httpMethod = method
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        if let body {
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.httpBody = try JSONEncoder().encode(body)
        }
        let (data, response) = try await URLSession.shared.data(for: request)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else {
            throw try JSONDecoder().decode(Refusal.self, from: data)
        }
        return try JSONDecoder().decode(Reply.self, from: data)
    }
}

/// The state of a running app.
final class AppSession {
    enum Page { case signedOut, signedIn }

    let api: Api
    let store: TokenStore
    var accessToken: String?
    private(set) var user: User?

    init(api: Api, store: TokenStore) {
        self.api = api
        self.store = store
    }

    /// The start of the app.
    func checkSession() async -> Page {
        do {
            guard store.refreshToken != nil else { return .signedOut }
            try await refresh()
            user = try await api.send("GET", "api/users/me", token: accessToken)
            return .signedIn
        } catch {
            (accessToken, user, store.refreshToken) = (nil, nil, nil)
            return .signedOut
        }
    }

    func signIn(_ path: String, _ body: [String: String]) async throws {
        let session: Session = try await api.send("POST", path, token: nil, body: body)
        (accessToken, user, store.refreshToken) = (session.accessToken, session.user, session.refreshToken)
    }

    /// Calls, and once more after a refresh if the access token has ended.
    func call<Reply: Decodable>(_ method: String, _ path: String) async throws -> Reply {
        do {
            return try await api.send(method, path, token: accessToken)
        } catch let refusal as Refusal where refusal.statusCode == 401 && store.refreshToken != nil {
            try await refresh()
            return try await api.send(method, path, token: accessToken)
        }
    }

    func signOut() async throws {
        let body = ["refreshToken": store.refreshToken ?? ""]
        let done: Done = try await api.send("POST", "api/auth/logout", token: accessToken, body: body)
        guard done.success else { throw Failure("the sign-out succeeds") }
        (user, store.refreshToken) = (nil, nil)
    }

    private func refresh() async throws {
        let body = ["refreshToken": store.refreshToken ?? ""]
        let tokens: Tokens = try await api.send("POST", "api/auth/refresh", token: nil, body: body)
        (accessToken, store.refreshToken) = (tokens.accessToken, tokens.refreshToken)
    }
}
