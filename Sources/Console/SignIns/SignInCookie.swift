/// The cookie with the secret of a sign-in at a provider, for the 10 minutes that it may take. Like the session's, it is for this
/// host only and not readable by scripts; the page that the provider sends the browser to sends it.
enum SignInCookie {
    static let name = "__Host-console-sign-in"

    static func set(_ value: String) -> String { "\(name)=\(value); Max-Age=600; \(attributes)" }

    static let removal = "\(name)=; Max-Age=0; \(attributes)"

    private static let attributes = "Path=/; Secure; HttpOnly; SameSite=Strict"
}
