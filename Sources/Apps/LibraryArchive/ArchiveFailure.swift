import Basics
import Database
import GRPCWire
import RPC
import Zip

/// The failures of the app, in the words that its clients show.
enum ArchiveFailure: RPCErrorConvertible {
    case signedOut
    case wrongPassword
    /// The new password has a wrong length.
    case newPassword
    /// The request names a host that is not the listener's.
    case host(String)
    /// The library, or the gateway, is busy with another task.
    case busy(LibraryTasks.Kind)
    /// The archive that a client sent cannot be unpacked.
    case archive(String)
    /// A document of the archive cannot be read.
    case document(String)
    /// An export cannot be written to the disk.
    case file(UnnamedFile.Failure)
    /// The gateway cannot store what it has received.
    case storage(any Error)

    var rpcError: RPCError {
        switch self {
        case .signedOut: RPCError(bare: .unauthenticated, "请先登录")
        case .wrongPassword: RPCError(bare: .unauthenticated, "用户名或密码错误")
        case .newPassword: RPCError(bare: .invalidArgument, "新密码须为 8 至 1024 字节")
        case .host(let name):
            RPCError(
                bare: .permissionDenied,
                "拒绝访问: the host name \(name.prefix(100)) is not this library's: "
                    + "use localhost, or add it to apps.archive.host_names")
        case .busy(.importing):
            RPCError(bare: .unavailable, "暂时无法处理导入工作", retryAfterMilliseconds: 1000)
        case .busy(.exporting):
            RPCError(bare: .unavailable, "暂时不能处理导出工作", retryAfterMilliseconds: 1000)
        case .archive(let reason): RPCError(bare: .invalidArgument, "导入失败: \(reason)")
        case .document(let reason): RPCError(bare: .invalidArgument, "数据转换失败: \(reason)")
        case .file(let failure): RPCError(bare: .internalError, "创建导出文件失败").caused(by: failure)
        case .storage(let error): Self.storageError(error)
        }
    }

    private static func storageError(_ error: any Error) -> RPCError {
        guard let known = RPCError(of: error), known.status == .unavailable else {
            return RPCError(bare: .internalError, "导入失败").caused(by: error)
        }
        return RPCError(
            bare: .unavailable, "导入失败: \(known.message)", retryAfterMilliseconds: known.retryAfterMilliseconds
        ).caused(by: error)
    }
}
