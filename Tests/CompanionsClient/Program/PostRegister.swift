// swift-format-ignore-file
// A call of the app, as its documentation has it.
import Foundation
import Alamofire
import SwiftyJSON
import SSZipArchive

func PostRegister(completion: @escaping (_ code: Int, _ msg: String) -> (), name: String, email:String, password: String) {
    var code = 100
    var msg = ""
    print(getSize(url: PostImagePath!))
    print(type(of: PostImagePath!))
    AF.upload(multipartFormData: { (MultipartFormData) in
        print(type(of: PostImagePath!))
        MultipartFormData.append(PostImagePath!, withName: "file")
        MultipartFormData.append(name.data(using: String.Encoding.utf8, allowLossyConversion: false)!, withName: "name")
        MultipartFormData.append(email.data(using: String.Encoding.utf8, allowLossyConversion: false)!, withName: "email")
        MultipartFormData.append(password.data(using: String.Encoding.utf8, allowLossyConversion: false)!, withName: "pass")
    }, to: "https://withyou-cetaciis.dev/api/register")
    .responseJSON { (response) in
        let json = JSON(response.data!)
        code = json["code"].intValue
        msg = json["msg"].string!
        print(code)
        completion(code, msg)
    }
}
