// Compares the verification of an identity token with OpenSSL's check of its signature alone: identity-benchmark [SECONDS].
// Both run in turns on one thread, so that a change of the machine's load affects both.

import Basics
import COpenSSL
import Crypto
import Foundation
import IdentityTokens

/// A token that an RSA key of 2048 bits signed, and the key's modulus.
let rsaModulus = """
    yn6KNVcwqeXq9ayR_CJ-vrNsVn-4NRl_vka16a2cKls_ViSLPtOc3ViI_VdnE7R-q5WvWjDkh7rETrrv-uo8zzb-l_\
    y1U0NUkOUzBgTQiXJinUMgHj6AV622sy44hRwoEkYakxCD6lJSek8WThhHWcJ4OxHQXJbbzu8GCDxPnye6fjgwSj0x\
    q1JzYmn8us08figFZ57lhEhqA5c-QMgtmM3o-CqIHh6kfoPYJqfUtlxNzeBIKFC0CB5x1DtBA77HiEYH8bKYHIIM5L\
    NeT4vF1I1SbwMLk7gjPFgolJ-03mimy35UzfLDVZI0aB_kJuJ-BkN174UU884EF89E_S-oFQ
    """
let rsaToken = """
    eyJhbGciOiJSUzI1NiIsImtpZCI6InJzYSIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJodHRwczovL3Nzby5leGFtcGxlL\
    mNvbSIsImF1ZCI6ImdhdGV3YXkiLCJzdWIiOiJhZGEiLCJpYXQiOjE4MDAwMDAwMDAsImV4cCI6MTgwMDAwMDYwMH0\
    .Ba6cg443FnuRr9robFdeZI6DzCSwNSVZtTCdgaAlNQiN0Sajb2LC9u9rTmtKDvQYAgNQoRYEpf-E4KgwjZMvlLH6C\
    Yi0accCVZfi1tXwfX4xUYbsKoN9WhdT7q84OKlhlhF9AN9VWby_6tFtEdj_IoowXFlp2eKmAgS1lI_TcaECR6sOZsw\
    WbwwkukehmSkU2OysiN2jEKv1ryGkj2sGpDU6lg9KBFkIpa5qbESnMd-_ZlYVgjCvHtfS_pHZLwRwXzxsxnBrKNS5e\
    5BHSo6HOchUS81rgun22h61CGZnT7gLmyB9FHLHx_kwbMOmBPSE30bHOssCKpvwNGXTCEZTSw
    """

let now = UnixTime(seconds: 1_800_000_000)
let rules = IdentityTokenRules(issuer: "https://sso.example.com", audiences: ["gateway"])

/// A token of about 1 KiB, as providers issue them, signed with ES256.
func largeToken(_ key: ES256Key) -> String {
    let groups = (0..<20).map { "\"group-\($0)-of-the-company\"" }.joined(separator: ",")
    let claims = """
        {"iss":"https://sso.example.com","aud":"gateway","sub":"ada","iat":1800000000,"exp":1800000600,\
        "email":"ada@example.com","email_verified":true,"name":"Ada Lovelace","groups":[\(groups)]}
        """
    let header = Base64.encodeURL(Array(#"{"alg":"ES256","kid":"ec"}"#.utf8))
    let signed = header + "." + Base64.encodeURL(Array(claims.utf8))
    return signed + "." + Base64.encodeURL(key.sign(Array(signed.utf8)))
}

/// Returns the microseconds of one run of each function: the median of many short turns.
func compare(_ seconds: Double, _ first: @escaping () -> Bool, _ second: @escaping () -> Bool) -> (Double, Double) {
    var times: [[Double]] = [[], []]
    let clock = ContinuousClock()
    let end = clock.now + .seconds(seconds)
    while clock.now < end {
        for (index, body) in [first, second].enumerated() {
            let took = clock.measure {
                for _ in 0..<50 { precondition(body(), "a valid signature is refused") }
            }
            times[index].append(Double(took.components.attoseconds) / 1e12 / 50)
        }
    }
    return (times[0].sorted()[times[0].count / 2], times[1].sorted()[times[1].count / 2])
}

/// OpenSSL's check as its documentation shows it: a context for each signature.
func openSSL(_ key: OpaquePointer?, _ signature: [UInt8], _ message: [UInt8]) -> Bool {
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
        && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
}

let seconds = CommandLine.arguments.dropFirst().first.flatMap(Double.init) ?? 3
let ecKey = ES256Key()
let point = ecKey.publicCoordinates
let keySet = """
    {"keys":[{"kty":"RSA","kid":"rsa","n":"\(rsaModulus)","e":"AQAB"},\
    {"kty":"EC","crv":"P-256","kid":"ec","x":"\(Base64.encodeURL(point.x))","y":"\(Base64.encodeURL(point.y))"}]}
    """
let keys = try JSONWebKeySet(parsing: Array(keySet.utf8))
let modulus = Base64.decodeURL(rsaModulus) ?? []
let rsaKey = ossl_rsa_public(modulus, modulus.count, [1, 0, 1], 3)
var publicPoint = [4] + point.x + point.y
let ecPublicKey = ossl_p256_public(&publicPoint)

for (name, token, key) in [
    ("RS256, 0.5 KiB", rsaToken, rsaKey), ("ES256, 1 KiB", largeToken(ecKey), ecPublicKey),
] {
    let parts = token.split(separator: ".")
    let message = Array("\(parts[0]).\(parts[1])".utf8)
    var signature = Base64.decodeURL(parts[2]) ?? []
    if key == ecPublicKey {
        var der = [UInt8](repeating: 0, count: 72)
        let count = ossl_es256_der(signature, &der)
        signature = Array(der.prefix(count))
    }
    let (whole, alone) = compare(seconds) {
        (try? rules.verify(try SignedToken(parsing: token), of: .person, keys: keys, at: now)) != nil
    } _: {
        openSSL(key, signature, message)
    }
    print(
        String(format: "%@: %.1f µs, OpenSSL's signature check %.1f µs, ratio %.2f", name, whole, alone, whole / alone))
}
