import HTTPTypes

/// The properties of a browser's request that concern the session.
extension HTTPRequestHead {
    /// Whether a page of the console itself makes the request. The browser says so, and pages cannot change it (W3C Fetch Metadata,
    /// section 2.3).
    var isSameOrigin: Bool { fields.values(of: "sec-fetch-site") == ["same-origin"] }

    /// The value of the session's cookie; `nil` unless the request has exactly one.
    var sessionCookie: String? { cookie(SessionCookie.name) }

    /// The value of a cookie; `nil` unless the request has exactly one.
    func cookie(_ name: String) -> String? {
        let cookies = fields.values(of: "cookie").flatMap { $0.split(separator: ";") }.compactMap { pair in
            let pair = pair.drop { $0 == " " }
            return pair.hasPrefix("\(name)=") ? pair.dropFirst(name.count + 1) : nil
        }
        return cookies.count == 1 ? cookies.first.map(String.init) : nil
    }

    /// The token by which a page proves that it belongs to the session.
    var sessionToken: String? { fields["x-console-token"] }

    /// Whether the user caused the request, rather than a page's periodic refresh.
    var isByPerson: Bool { fields["x-console-background"] == nil }
}
