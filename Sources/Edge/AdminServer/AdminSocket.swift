internal import Foundation
internal import Glibc
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import ServiceLifecycle

/// The admin server's other door: a Unix socket in the data directory that only the server's user
/// may open. Sinks are steered and verdicts are shown through it, and nothing opens it to the
/// network.
struct AdminSocket: Service {
    let directory: String
    let configuration: AdminConfiguration
    let routes: AdminRoutes
    let sinks: SinkRoutes
    let ledger: LedgerRoutes
    let tap: TapRoutes
    let quarantine: QuarantineRoutes
    let privacy: PrivacyRoutes
    let logger: Logger

    /// The bytes of a path that a Unix socket can have (unix(7), without the last 0).
    private static let maxPathBytes = 107

    /// The socket of a data directory.
    static func path(in directory: String) -> String { directory + "/admin.sock" }

    /// Serves until shutdown. A directory in which no socket can be made has none, which is logged:
    /// events do not depend on it.
    func run() async throws {
        do {
            try await self.serve()
        } catch {
            self.logger.warning(
                """
                there is no admin socket: sinks, replay, tail --target and top --socket cannot ask \
                this server
                """,
                metadata: ["path": "\(Self.path(in: self.directory))", "reason": "\(error)"])
            try? await gracefulShutdown()
        }
    }

    private func serve() async throws {
        let path = Self.path(in: self.directory)
        guard path.utf8.count <= Self.maxPathBytes else {
            throw AdminSocketError(
                reason: "its path has \(path.utf8.count) bytes, and a socket's may have "
                    + "\(Self.maxPathBytes): choose a shorter data_dir")
        }
        let birthplace = try self.makeBirthplace()
        var libraryLogger = self.logger
        libraryLogger.logLevel = .warning
        let server = Application(
            router: self.routes.router(
                with: self.sinks, self.ledger, self.tap, self.quarantine, self.privacy),
            server: AdminHTTP.server(self.configuration, answerTimeout: nil),
            configuration: .init(address: .unixDomainSocket(path: birthplace + "/s")),
            onServerRunning: { _ in self.publish(birthplace, as: path) },
            logger: libraryLogger)
        defer { unlink(path) }
        try await server.run()
    }

    /// A directory that nobody else may enter: a socket has its mode only after it is bound.
    private func makeBirthplace() throws(AdminSocketError) -> String {
        let birthplace = self.directory + "/.admin"
        // What a process left that was killed in between.
        unlink(birthplace + "/s")
        rmdir(birthplace)
        guard mkdir(birthplace, 0o700) == 0 else {
            throw AdminSocketError(reason: String(cString: strerror(errno)))
        }
        return birthplace
    }

    /// Replaces the socket of an earlier process, if there is one.
    private func publish(_ birthplace: String, as path: String) {
        let socket = birthplace + "/s"
        if chmod(socket, 0o600) != 0 || rename(socket, path) != 0 {
            self.logger.warning(
                "the admin socket cannot be put in its place",
                metadata: ["path": "\(path)", "reason": "\(String(cString: strerror(errno)))"])
        }
        rmdir(birthplace)
    }
}

extension AdminSocket: CustomStringConvertible {
    /// A short name, since service groups log their services' descriptions.
    var description: String { "AdminSocket" }
}

/// Why there is no admin socket.
private struct AdminSocketError: Error, CustomStringConvertible {
    let reason: String
    var description: String { self.reason }
}
