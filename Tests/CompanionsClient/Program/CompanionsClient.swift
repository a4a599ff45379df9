import Alamofire
import Foundation

/// Runs one call of the app against a server: `companions-client URL register NAME EMAIL PASSWORD FILE`, `info EMAIL PASSWORD`,
/// `picture EMAIL PASSWORD FILE`, `match EMAIL PASSWORD` or `tick EMAIL PASSWORD COMMENT`.
///
/// The last line of the output is the result.
@main enum CompanionsClient {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 4, let server = URL(string: arguments[0]) else { exit(2) }
        Session.server = server
        let rest = Array(arguments.dropFirst(2))
        switch (arguments[1], rest.count) {
        case ("register", 4):
            PostImagePath = URL(fileURLWithPath: rest[3])
            PostRegister(completion: finish, name: rest[0], email: rest[1], password: rest[2])
        case ("info", 2):
            PostGetUserInfo(
                completion: { info in
                    let data = try? JSONEncoder().encode(info)
                    print(String(decoding: data ?? Data(), as: UTF8.self))
                    exit(0)
                }, email: rest[0], pass: rest[1])
        case ("picture", 3):
            PostImagePath = URL(fileURLWithPath: rest[2])
            PostChangeProt(completion: finish, email: rest[0], password: rest[1])
        case ("match", 2):
            PostGetUserInfo(completion: { MatchWalk.match($0, completion: finish) }, email: rest[0], pass: rest[1])
        case ("tick", 3):
            PostGetUserInfo(
                completion: { MatchWalk.tick($0, comment: rest[2], completion: finish) }, email: rest[0], pass: rest[1])
        default: exit(2)
        }
        // The app calls no completion if a response is not what it expects.
        DispatchQueue.main.asyncAfter(deadline: .now() + .seconds(30)) {
            print("no result")
            exit(1)
        }
        dispatchMain()
    }

    private static func finish(_ code: Int, _ msg: String) {
        print(code, msg)
        exit(0)
    }
}
