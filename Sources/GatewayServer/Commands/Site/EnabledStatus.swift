/// The text for the `status` of sites and keys.
enum EnabledStatus {
    static func text(_ status: Int32) -> String {
        switch status {
        case 1: "enabled"
        case 2: "disabled"
        default: "\(status)"
        }
    }
}
