import Basics
import Glibc

/// A program that a command runs.
enum ChildProcess {
    /// Returns what a program writes to standard output, and whether it ends with the status 0. Its input is empty, and its errors are
    /// dropped.
    ///
    /// - Parameters:
    ///   - command: the path of the program and its arguments.
    ///   - variables: its environment.
    /// - Returns: `nil` if it cannot be run.
    static func output(
        of command: [String], _ variables: [String: String]
    ) -> (bytes: [UInt8], isSuccess: Bool)? {
        var pipe: [Int32] = [-1, -1]
        guard Glibc.pipe(&pipe) == 0 else { return nil }
        for end in pipe { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let child = start(command, variables, output: pipe[1])
        // The pipe ends when the child is the only one that has its other end.
        close(pipe[1])
        defer { close(pipe[0]) }
        guard let child else { return nil }
        let bytes = try? OpenFile.read(pipe[0])
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        return (bytes ?? [], bytes != nil && status == 0)
    }

    private static func start(_ command: [String], _ variables: [String: String], output: Int32) -> pid_t? {
        var files = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&files)
        defer { posix_spawn_file_actions_destroy(&files) }
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        let arguments = command.map { strdup($0) }
        let environment = variables.map { strdup("\($0.key)=\($0.value)") }
        defer { for text in arguments + environment { free(text) } }
        var child = pid_t()
        return posix_spawn(&child, command[0], &files, nil, arguments + [nil], environment + [nil]) == 0 ? child : nil
    }
}
