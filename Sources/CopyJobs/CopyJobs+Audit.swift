package import Capability
import Database

/// The words of the audit log for copy jobs.
extension CopyJobs {
    package static var auditSentences: [AuditSentence] {
        [
            AuditSentence(.download, "CreateCopyJob", "began the copy job {target}"),
            AuditSentence(.download, "CancelCopyJob", "canceled the copy job {target}"),
        ]
    }

    package static var targetKinds: [TargetKind] {
        [
            TargetKind(
                "copyJobs", ("copy job", "copy jobs"), "endpoint, bucket", from: "copy_jobs"
            ) { row in
                let bucket = row.text("bucket")
                return TargetName("to \(row.text("endpoint"))" + (bucket.isEmpty ? "" : "/\(bucket)"))
            }
        ]
    }
}
