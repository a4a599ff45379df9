// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

/// The types that the app's documentation uses and does not show, with the names of the published app.
struct LoginInfo: Encodable {
    let email: String
    let pass: String
}

struct TogetherTask: Codable {
    var name: String
    var number: Int
    var comment: String
    var friendEmail: String
    var IsFinished: Bool
}

struct PrivateTask: Codable {
    var name: String
    var number: Int
    var IsFinished: Bool
}

struct Message: Codable {
    var msg: String
    var IsUser: Bool
    var IsRead: Bool
}

/// None of the values is optional, so that each must be in the response.
struct UserInfo: Codable {
    var username = ""
    var email = ""
    var mobile = ""
    var password = ""
    var age = ""
    var bio = ""
    var constellation = ""
    var birthday = ""
    var sex = ""
    var img_path = ""
    var TogetherTasks: [TogetherTask] = []
    var PrivateTasks: [PrivateTask] = []
    var Friends: [String] = []
    var Messages: [Message] = []
    var partner = ""
    var CurrentTaskId = 0
}

/// The picture that the person has chosen.
var PostImagePath: URL?

func getSize(url: URL) -> UInt64 {
    (try? FileManager.default.attributesOfItem(atPath: url.path))?[.size] as? UInt64 ?? 0
}
