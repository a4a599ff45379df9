/// The version of the program `data-gateway`.
package enum ProgramVersion {
    package static let current = "0.2.0"
}
