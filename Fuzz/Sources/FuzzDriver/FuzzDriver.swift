import CLibFuzzer
import Foundation

/// Runs libFuzzer with the program's arguments, or writes the seed inputs: `--seeds DIRECTORY`.
@MainActor
public func fuzz(
    _ property: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32, seeds: @autoclosure () -> [[UInt8]]
) throws -> Never {
    let arguments = CommandLine.arguments
    if arguments.count == 3, arguments[1] == "--seeds" {
        for (index, seed) in seeds().enumerated() {
            try Data(seed).write(to: URL(filePath: arguments[2]).appending(path: "seed-\(index)"))
        }
        exit(0)
    }
    var count = CommandLine.argc
    var values: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    exit(LLVMFuzzerRunDriver(&count, &values, property))
}

/// The input of one run. The bytes are copied, so that the address sanitizer detects reads beyond their end.
public func input(_ data: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
    [UInt8](UnsafeBufferPointer(start: data, count: count))
}
