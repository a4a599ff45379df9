import Platform

/// Entity tags, always in double quotes. Each dialect makes them its own way, and any client may compare any of them.
public enum ETag {
    enum Form: Sendable {
        /// Upper-case hex; of parts, over the **hex text** of their MD5s.
        case oss
        /// Lower-case hex; of parts, over their MD5s.
        case s3

        fileprivate func text(_ digest: [UInt8]) -> String {
            switch self {
            case .oss: Hex.upper(digest)
            case .s3: Hex.lower(digest)
            }
        }
    }

    /// Of a part, or of an object that was put whole: the MD5.
    static func whole(md5: [UInt8], _ form: Form) -> String {
        "\"\(form.text(md5))\""
    }

    /// Of an object made of parts: the MD5 over the parts' MD5s, and their number.
    static func multipart(partMD5s: [[UInt8]], _ form: Form) -> String {
        let digest = Digest.md5(partMD5s.flatMap { form == .oss ? Array(form.text($0).utf8) : $0 })
        return "\"\(form.text(digest))-\(partMD5s.count)\""
    }

    /// The same tag without quotes (raw, or escaped as in XML) and in upper case: what two tags are compared by.
    public static func normalized(_ tag: some StringProtocol) -> String {
        String(tag).replacing("&quot;", with: "\"").trimming { $0 == "\"" || $0 == " " }.uppercased()
    }

    public static func matches(_ left: some StringProtocol, _ right: some StringProtocol) -> Bool {
        normalized(left) == normalized(right)
    }
}

extension String {
    func trimming(_ isCut: (Character) -> Bool) -> String {
        String(drop(while: isCut).reversed().drop(while: isCut).reversed())
    }
}
