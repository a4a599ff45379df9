import Accounts
package import Capability
package import Protobuf
import RPC

/// The calls of an app: its .proto files, their routes, and the callers for each method.
package struct AppAPI: Sendable {
    /// The file that declares the app's services. All files that it imports are files of the gateway or of other apps.
    package let files: [FileDescriptor]
    package let routes: [HTTPRoute]
    package let access: AccessTable
    /// The comments of the files: on each line a full name, a tab and the text.
    package let comments: String

    package init(files: [FileDescriptor], routes: [HTTPRoute], access: AccessTable, comments: String = "") {
        self.files = files
        self.routes = routes
        self.access = access
        self.comments = comments
    }
}
