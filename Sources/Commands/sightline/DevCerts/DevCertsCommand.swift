// `sightline dev-certs`: creates certificates to try TLS on one machine.
internal import ArgumentParser
internal import Credentials
internal import Foundation
internal import TrackingReport
internal import WireFormat

/// Writes the files of a throwaway CA, a server certificate and a client certificate.
struct DevCertsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dev-certs",
        abstract: "Make certificates for trying TLS out; never for production.",
        discussion: """
            Writes ca.pem, server.pem, server.key, client.pem and client.key (P-256; the files can \
            be read by their owner alone). The authority's own key is thrown away.
            """)

    @Option(help: "The directory, created if missing.")
    var out: String

    @Option(help: "A name or an address of the server, as often as needed (default: localhost).")
    var name: [String] = []

    @Option(help: "The client's name.")
    var client = "dev-client"

    @Option(help: "Days until they expire, 1 to 825.", transform: AmountOption.days)
    var days = 30

    @Flag(help: "Write over files that are there.")
    var force = false

    func validate() throws {
        guard (1...825).contains(self.days) else {
            throw ValidationError("--days \(self.days) is outside 1 to 825.")
        }
        for name in self.name + [self.client] {
            guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy({ 33...126 ~= $0 })
            else {
                throw ValidationError(
                    "\"\(name.printable)\" has to be 1 to 64 ASCII characters without spaces.")
            }
        }
    }

    func run() throws {
        let names = (self.name.isEmpty ? ["localhost"] : self.name) + ["127.0.0.1", "::1"]
        do {
            let certificates = try DevelopmentCertificates(
                names: names, client: self.client, days: self.days, now: Date())
            try self.write(certificates.files)
        } catch let error as CocoaError {
            throw Console.fail(
                InputError(
                    file: self.out,
                    reason: "\(error.localizedDescription) Name a directory that you may write to, "
                        + "with --out"), .inputOutput)
        } catch {
            throw Console.fail(error, .failure)
        }
        Console.out(self.usage)
    }

    private func write(_ files: [DevelopmentCertificates.File]) throws {
        try FileManager.default.createDirectory(
            atPath: self.out, withIntermediateDirectories: true)
        for file in files where !self.force {
            guard !FileManager.default.fileExists(atPath: self.path(file.name)) else {
                throw InputError(
                    file: self.path(file.name),
                    reason: "is there already; name another directory, or say --force")
            }
        }
        for file in files {
            try self.write(file)
            Console.out("wrote \(self.path(file.name))")
        }
    }

    /// Creates a file that only its owner can read. Fails if it exists, and never follows a
    /// symbolic link.
    private func write(_ file: DevelopmentCertificates.File) throws {
        let path = self.path(file.name)
        if self.force { unlink(path) }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw InputError(file: path, reason: String(cString: strerror(errno)))
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try handle.write(contentsOf: Data(file.text.utf8))
        try handle.close()
    }

    private func path(_ name: String) -> String {
        self.out.hasSuffix("/") ? self.out + name : "\(self.out)/\(name)"
    }

    private var usage: String {
        let (ca, certificate) = (self.path("ca.pem"), self.path("server.pem"))
        let key = self.path("server.key")
        return """

            They are for development alone, and expire in \(self.days) days. TLS:
              sightline serve --set tls.mode=tls --set tls.certificate=\(certificate) \\
                --set tls.key=\(key)
              sightline send --tls-roots \(ca) FILE
            With client certificates:
              sightline serve --set tls.mode=mtls --set tls.certificate=\(certificate) \\
                --set tls.key=\(key) --set tls.client_roots=\(ca)
              sightline send --tls-roots \(ca) --client-certificate \(self.path("client.pem")) \\
                --client-key \(self.path("client.key")) FILE
            """
    }
}
