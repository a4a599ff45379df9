import Basics
import Synchronization

@testable import Identity

/// Answers requests to a provider as a test says, and counts them.
final class StubTransport: ProviderTransport {
    struct State {
        var documents: [String: [UInt8]] = [:]
        var maxAge: Duration?
        var gets: [String] = []
        var posts: [[String: String]] = []
        var authorizations: [String?] = []
        var response: (status: Int, body: [UInt8]) = (500, [])
        /// The answers to posts wait for its first notification; `nil` = they do not wait.
        var responsesMayArrive: Signal?
    }

    let state = Lock(State())
    /// Notified after each post has arrived.
    let posted = Signal()

    var gets: [String] { state.withLock { $0.gets } }

    func set(_ url: String, _ body: [UInt8]?) { state.withLock { $0.documents[url] = body } }

    func get(_ url: String, limit: Int) async throws(ProviderFailure) -> ProviderDocument {
        let (body, maxAge) = state.withLock { state in
            state.gets.append(url)
            return (state.documents[url], state.maxAge)
        }
        // Other callers get their turn, as with a network.
        await Task.yield()
        guard let body else { throw ProviderFailure("\(url) is down") }
        return ProviderDocument(body: body, maxAge: maxAge)
    }

    func post(
        _ url: String, form: [(name: String, value: String)], authorization: String?, limit: Int
    ) async throws(ProviderFailure) -> (status: Int, body: [UInt8]) {
        let (response, mayCome) = state.withLock { state in
            state.posts.append(Dictionary(form.map { ($0.name, $0.value) }) { $1 })
            state.authorizations.append(authorization)
            return (state.response, state.responsesMayArrive)
        }
        posted.notify()
        await mayCome?.wait(after: 0)
        return response
    }
}
