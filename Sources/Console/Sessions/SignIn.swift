import Foundation

/// The request body of a sign-in: its first step, or the second one.
enum SignIn {
    static let form = #"{"organization": …, "userName": …, "password": …} or {"challenge": …, "code": …}"#

    case password(PasswordSignIn)
    case secondFactor(SecondFactorSignIn)

    init?(json: [UInt8]) {
        let (decoder, data) = (JSONDecoder(), Data(json))
        if let read = try? decoder.decode(PasswordSignIn.self, from: data) {
            self = .password(read)
        } else if let read = try? decoder.decode(SecondFactorSignIn.self, from: data) {
            self = .secondFactor(read)
        } else {
            return nil
        }
    }
}

/// The first step of a sign-in.
struct PasswordSignIn: Decodable {
    let organization: String
    let userName: String
    let password: String
}

/// The second step of a sign-in.
struct SecondFactorSignIn: Decodable {
    let challenge: String
    let code: String
}
