/// The request body of a sign-in: its first step, or the second one.
enum SignIn {
    static let form = #"{"organization": …, "userName": …, "password": …} or {"challenge": …, "code": …}"#

    case password(PasswordSignIn)
    case secondFactor(SecondFactorSignIn)

    init?(json: [UInt8]) {
        if let read = PasswordSignIn(json: json) {
            self = .password(read)
        } else if let read = SecondFactorSignIn(json: json) {
            self = .secondFactor(read)
        } else {
            return nil
        }
    }
}

/// The first step of a sign-in.
struct PasswordSignIn: JSONDocument {
    let organization: String
    let userName: String
    let password: String
}

/// The second step of a sign-in.
struct SecondFactorSignIn: JSONDocument {
    let challenge: String
    let code: String
}
