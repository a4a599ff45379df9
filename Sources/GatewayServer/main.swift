import Foundation

var options = ServeOptions(dataDirectory: "data")
var rest = CommandLine.arguments.dropFirst(2)
while let name = rest.popFirst(), let value = rest.popFirst() {
    switch name {
    case "--data-dir": options.dataDirectory = value
    case "--config": options.configurationPath = value
    default: options.listen[String(name.dropFirst(2).dropLast(7))] = value
    }
}
exit(await ServeCommand.run(options))
