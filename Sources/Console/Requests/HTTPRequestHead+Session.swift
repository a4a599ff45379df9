import HTTPTypes

/// What a browser says of a request beside what it asks for.
extension HTTPRequestHead {
    /// Whether a page of the console itself makes the request, as the browser says and no page can
    /// (W3C Fetch Metadata, section 2.3).
    var isSameOrigin: Bool { fields.values(of: "sec-fetch-site") == ["same-origin"] }

    /// The value of the session's cookie; `nil` where there is none, or more than one.
    var sessionCookie: String? {
        let cookies = fields.values(of: "cookie").flatMap { $0.split(separator: ";") }.compactMap { pair in
            let pair = pair.drop { $0 == " " }
            return pair.hasPrefix("\(SessionCookie.name)=") ? pair.dropFirst(SessionCookie.name.count + 1) : nil
        }
        return cookies.count == 1 ? cookies.first.map(String.init) : nil
    }

    /// What a page shows to be of the session.
    var sessionToken: String? { fields["x-console-token"] }

    /// Whether somebody wants it, and not a page that looks for news by itself.
    var isByPerson: Bool { fields["x-console-background"] == nil }
}
