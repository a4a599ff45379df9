// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Alamofire
import Foundation
import FoundationNetworking
import SwiftyJSON

struct PlanRequest: Encodable {
    let TaskId: Int
    let Email: String
}

/// The steps of the published app from the choice of a plan to the first task that is finished, in its order.
enum MatchWalk {
    /// The app's own names of the tasks of its one plan.
    private static let tasks = [
        "Leg bent", "Knee flexion", "SicilLian Belly", "Pedal in air", "Flat support", "Stretch", "Runsning",
        "Diet control", "Show diet",
    ]

    /// Asks for a companion, and returns the code.
    static func match(_ user: UserInfo, completion: @escaping (Int, String) -> Void) {
        call("match", user.email, completion)
    }

    /// Learns of the match, starts the app's own list of tasks, and finishes the first one with a comment.
    static func tick(_ user: UserInfo, comment: String, completion: @escaping (Int, String) -> Void) {
        call("GetMatch", user.email) { code, partner in
            guard code == 0 else { return completion(code, partner) }
            var user = user
            user.TogetherTasks = tasks.map {
                TogetherTask(
                    name: $0, number: user.CurrentTaskId, comment: "", friendEmail: partner, IsFinished: false)
            }
            user.Friends.append(partner)
            user.partner = partner
            change(user) { code, msg in
                guard code == 0 else { return completion(code, msg) }
                user.TogetherTasks[0].IsFinished = true
                user.TogetherTasks[0].comment = comment
                change(user, completion: completion)
            }
        }
    }

    private static func call(_ name: String, _ email: String, _ completion: @escaping (Int, String) -> Void) {
        let request = PlanRequest(TaskId: 1, Email: email)
        AF.request("https://withyou.cetacis.dev/api/\(name)", method: .post, parameters: request).responseJSON {
            finish($0.data, completion)
        }
    }

    /// Sends the whole copy of the user: JSON that claims to be a form.
    private static func change(_ user: UserInfo, completion: @escaping (Int, String) -> Void) {
        var request = URLRequest(url: Session.server.appendingPathComponent("/api/ChangeProfile"))
        request.httpMethod = "POST"
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        request.httpBody = try? JSONEncoder().encode(user)
        URLSession(configuration: .default).dataTask(with: request) { data, _, _ in
            finish(data, completion)
        }.resume()
    }

    private static func finish(_ response: Data?, _ completion: (Int, String) -> Void) {
        let json = JSON(response ?? Data())
        completion(json["code"].intValue, json["msg"].string ?? "no response")
    }
}
