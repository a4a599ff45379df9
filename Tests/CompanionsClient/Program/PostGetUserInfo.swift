// swift-format-ignore-file
// A call of the app, as its documentation has it.
import Foundation
import Alamofire
import SwiftyJSON

func PostGetUserInfo(completion: @escaping (_ RtData: UserInfo) -> (), email:String, pass: String) {
    var UserData: UserInfo = UserInfo()
    let para = LoginInfo(email: email, pass: pass)
    AF.request("https://withyou.cetacis.dev/api/UserInfo",
              method: .post,
              parameters: para
    ).responseJSON { (response) in
        // print(json)
        do {
            UserData = try JSONDecoder().decode(UserInfo.self, from: response.data!)
            completion(UserData)
        } catch {
            print(error)
        }
    }
}
