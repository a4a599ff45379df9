import Basics
import Crypto
import Foundation
import IdentityTokens

/// A provider with one key for each algorithm, whose tokens are signed here.
struct TestIssuer {
    static let url = "https://sso.example.com"
    static let now = UnixTime(seconds: 1_800_000_000)

    let key = ES256Key()

    /// The modulus of an RSA key with the exponent 65537, and a token of it; its private key was not kept.
    static let modulus = """
        yn6KNVcwqeXq9ayR_CJ-vrNsVn-4NRl_vka16a2cKls_ViSLPtOc3ViI_VdnE7R-q5WvWjDkh7rETrrv-uo8zzb-l_\
        y1U0NUkOUzBgTQiXJinUMgHj6AV622sy44hRwoEkYakxCD6lJSek8WThhHWcJ4OxHQXJbbzu8GCDxPnye6fjgwSj0x\
        q1JzYmn8us08figFZ57lhEhqA5c-QMgtmM3o-CqIHh6kfoPYJqfUtlxNzeBIKFC0CB5x1DtBA77HiEYH8bKYHIIM5L\
        NeT4vF1I1SbwMLk7gjPFgolJ-03mimy35UzfLDVZI0aB_kJuJ-BkN174UU884EF89E_S-oFQ
        """
    static let rsaToken = """
        eyJhbGciOiJSUzI1NiIsImtpZCI6InJzYSIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJodHRwczovL3Nzby5leGFtcGxlL\
        mNvbSIsImF1ZCI6ImdhdGV3YXkiLCJzdWIiOiJhZGEiLCJpYXQiOjE4MDAwMDAwMDAsImV4cCI6MTgwMDAwMDYwMH0\
        .Ba6cg443FnuRr9robFdeZI6DzCSwNSVZtTCdgaAlNQiN0Sajb2LC9u9rTmtKDvQYAgNQoRYEpf-E4KgwjZMvlLH6C\
        Yi0accCVZfi1tXwfX4xUYbsKoN9WhdT7q84OKlhlhF9AN9VWby_6tFtEdj_IoowXFlp2eKmAgS1lI_TcaECR6sOZsw\
        WbwwkukehmSkU2OysiN2jEKv1ryGkj2sGpDU6lg9KBFkIpa5qbESnMd-_ZlYVgjCvHtfS_pHZLwRwXzxsxnBrKNS5e\
        5BHSo6HOchUS81rgun22h61CGZnT7gLmyB9FHLHx_kwbMOmBPSE30bHOssCKpvwNGXTCEZTSw
        """

    /// The key set's members.
    var keys: [String] { [ec("ec"), Self.rsa("rsa")] }

    func ec(_ id: String?) -> String {
        let point = key.publicCoordinates
        let kid = id.map { #""kid":"\#($0)","# } ?? ""
        return
            #"{"kty":"EC","crv":"P-256",\#(kid)"x":"\#(Base64.encodeURL(point.x))","y":"\#(Base64.encodeURL(point.y))"}"#
    }

    static func rsa(_ id: String, exponent: String = "AQAB", modulus: String = modulus) -> String {
        #"{"kty":"RSA","kid":"\#(id)","use":"sig","alg":"RS256","n":"\#(modulus)","e":"\#(exponent)"}"#
    }

    static func set(_ keys: [String]) -> [UInt8] { Array("{\"keys\":[\(keys.joined(separator: ","))]}".utf8) }

    func keySet() throws -> JSONWebKeySet { try JSONWebKeySet(parsing: Self.set(keys)) }

    /// The claims of a valid token, changed as the test needs it; an empty text removes a claim.
    static func claims(_ changes: [String: String] = [:]) -> String {
        var claims = [
            "iss": #""\#(url)""#, "aud": #""gateway""#, "sub": #""ada""#, "iat": "1800000000", "exp": "1800000600",
        ]
        claims.merge(changes) { $1 }
        let members = claims.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
        return "{" + members.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ",") + "}"
    }

    /// Signs any header and claims.
    func sign(_ claims: String = Self.claims(), header: String = #"{"alg":"ES256","kid":"ec"}"#) -> String {
        let signed = Base64.encodeURL(Array(header.utf8)) + "." + Base64.encodeURL(Array(claims.utf8))
        return signed + "." + Base64.encodeURL(key.sign(Array(signed.utf8)))
    }
}
