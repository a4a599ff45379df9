// swift-format-ignore-file
// The state and the function of the app's settings, as its documentation has them; without the views.
import Foundation
import FoundationNetworking

struct SettingsView: View {
@AppStorage("serverURL") private var serverURL: String = ""
@State private var testStatus: String = ""
@State private var isTesting = false
private func testConnection() {
guard let url = URL(string: serverURL + "/api/health") else {
testStatus = "❌ URL格式错误"
return
}
isTesting = true
testStatus = "正在测试..."
URLSession.shared.dataTask(with: url) { data, response, error in
DispatchQueue.main.async {
isTesting = false
if let error = error {
testStatus = "❌ 连接失败:\(error.localizedDescription)"
return
}
if let httpResponse = response as? HTTPURLResponse,
httpResponse.statusCode == 200 {
testStatus = "✅ 连接成功"
} else {
testStatus = "❌ 服务器响应异常"
}
}
}.resume()
}
}

extension SettingsView {
    /// Tests the connection and returns the text that the app shows.
    @MainActor func test() async -> String {
        testConnection()
        while isTesting { try? await Task.sleep(for: .milliseconds(5)) }
        return testStatus
    }
}
