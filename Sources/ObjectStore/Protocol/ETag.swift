import Platform

/// Entity tags as OSS makes them, always in double quotes.
public enum ETag {
    /// Of a part, or of an object that was put whole: the MD5 in upper-case hex.
    static func whole(md5: [UInt8]) -> String {
        "\"\(Hex.upper(md5))\""
    }

    /// Of an object made of parts: the MD5 over the parts' MD5s **as upper-case hex text**, and their number.
    static func multipart(partMD5s: [[UInt8]]) -> String {
        let digest = Digest.md5(partMD5s.flatMap { Array(Hex.upper($0).utf8) })
        return "\"\(Hex.upper(digest))-\(partMD5s.count)\""
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
