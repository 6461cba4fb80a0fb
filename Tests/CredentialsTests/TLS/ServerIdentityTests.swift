// Faults of TLS files that prevent the start, each reported with its key.
internal import ConfigurationKeys
@testable internal import Credentials
internal import Foundation
internal import Logging
@testable internal import ServerConfiguration
internal import SwiftASN1
internal import Telemetry
internal import TestSupport
internal import Testing
@testable internal import TrackingServer
internal import X509

struct ServerIdentityTests {
    /// A fault, as it is put into files that are good, and the start of what is said of it.
    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let says: [String]
        var mode = ServerTLSConfiguration.Mode.tls
        let make:
            @Sendable (TestTLSFiles, TestAuthority, inout ServerTLSConfiguration) throws -> Void

        init(
            _ name: String, _ says: [String], mode: ServerTLSConfiguration.Mode = .tls,
            make:
                @escaping @Sendable (
                    TestTLSFiles, TestAuthority, inout ServerTLSConfiguration
                ) throws -> Void
        ) {
            self.testDescription = name
            self.says = says
            self.mode = mode
            self.make = make
        }
    }

    static let faults: [Fault] = [
        Fault("expired", ["tls.certificate: ", "expired at 20"]) { files, authority, _ in
            try files.write(try authority.identity(from: -10, until: -0.01))
        },
        Fault("not yet valid", ["tls.certificate: ", "is not valid before 20"]) {
            files, authority, _ in try files.write(try authority.identity(from: 0.01))
        },
        Fault("a key of another", ["tls.key: ", "is not the key of the first certificate"]) {
            files, authority, _ in
            let other = try authority.identity().key
            try TestTLSFiles.write(
                try other.serializeAsPEM().pemString, files.key, mode: 0o600)
        },
        Fault("no certificate named", ["tls.certificate is missing"]) { $2.certificatePath = "" },
        Fault("no key named", ["tls.key is missing"]) { $2.keyPath = "" },
        Fault("no file", ["tls.certificate: ", "cannot be opened"]) {
            try FileManager.default.removeItem(atPath: $0.certificate)
            _ = ($1, $2)
        },
        Fault("a directory", ["tls.key: ", "is no regular file"]) { $2.keyPath = $0.directory },
        Fault("an endless file", ["tls.key: ", "is no regular file"]) { $2.keyPath = "/dev/zero" },
        Fault("too large", ["tls.certificate: ", "is larger than 1048576 bytes"]) { files, _, _ in
            let text = String(repeating: "\n", count: PEMFile.maxBytes + 1)
            try TestTLSFiles.write(text, files.certificate)
        },
        Fault("no PEM", ["tls.certificate: ", "holds no certificate"]) { files, _, _ in
            try TestTLSFiles.write("nothing", files.certificate)
        },
        Fault("broken PEM", ["tls.key: ", "is not PEM"]) { files, _, _ in
            let text = "-----BEGIN PRIVATE KEY-----\n!!\n-----END PRIVATE KEY-----\n"
            try TestTLSFiles.write(text, files.key, mode: 0o600)
        },
        Fault("a key in place of it", ["tls.certificate: ", "holds no certificate"]) {
            $2.certificatePath = $0.key
        },
        Fault("no key in it", ["tls.key: ", "holds 0 private keys, not one"]) { files, _, _ in
            try TestTLSFiles.write(
                try String(contentsOfFile: files.certificate, encoding: .utf8), files.key,
                mode: 0o600)
        },
        Fault("an encrypted key", ["tls.key: ", "\"ENCRYPTED PRIVATE KEY\"", "unencrypted"]) {
            files, _, _ in
            let text = try String(contentsOfFile: files.key, encoding: .utf8)
                .replacing("PRIVATE KEY", with: "ENCRYPTED PRIVATE KEY")
            try TestTLSFiles.write(text, files.key, mode: 0o600)
        },
        Fault("a client's certificate", ["tls.certificate: ", "lacks serverAuth"]) {
            files, authority, _ in try files.write(try authority.identity(usage: .clientAuth))
        },
        Fault("no roots named", ["tls.client_roots is missing"], mode: .mtls) {
            $2.clientRootsPath = ""
        },
        Fault("roots of the past", ["tls.client_roots: ", "is valid now"], mode: .mtls) {
            files, _, _ in
            try files.write(roots: [try TestAuthority(from: -2, until: -1).certificate])
        },
        Fault("roots without mtls", ["tls.client_roots is ", "tls.mode is tls"]) {
            $2.clientRootsPath = $0.clientRoots
        },
    ]

    @Test("each fault of the files stops the start, with its key", arguments: faults)
    func fault(_ fault: Fault) async throws {
        try await TestDirectory.with { directory in
            let files = TestTLSFiles(directory: directory)
            let authority = try TestAuthority()
            var tls = try self.configuration(files, authority, mode: fault.mode)
            #expect(tls.problems() == [])
            try fault.make(files, authority, &tls)
            let problems = tls.problems()
            #expect(problems.count == 1, "\(problems)")
            for part in fault.says {
                #expect(problems.first?.contains(part) == true, "\(part) is not in \(problems)")
            }
            #expect(problems.first?.hasPrefix(fault.says[0]) == true)
            try await self.expectNoStart(tls, in: directory)
        }
    }

    @Test(
        "a key that others may read is refused; a group may read what root owns",
        arguments: [
            (0o600, true), (0o400, true), (0o700, true), (0o640, getuid() == 0), (0o644, false),
            (0o604, false), (0o660, false), (0o602, false),
        ])
    func keyMode(_ mode: Int, _ isTaken: Bool) async throws {
        try await TestDirectory.with { directory in
            let files = TestTLSFiles(directory: directory)
            let tls = try self.configuration(files, try TestAuthority())
            try FileManager.default.setAttributes(
                [.posixPermissions: mode], ofItemAtPath: files.key)
            let problems = tls.problems()
            #expect(problems.isEmpty == isTaken, "\(problems)")
            guard !isTaken else { return }
            let text = "tls.key: \(files.key) has mode 0\(String(mode, radix: 8)), which lets"
            #expect(problems.first?.hasPrefix(text) == true, "\(problems)")
        }
    }

    @Test("all faults are told at once")
    func allAtOnce() async throws {
        try await TestDirectory.with { directory in
            let files = TestTLSFiles(directory: directory)
            let authority = try TestAuthority()
            var tls = try self.configuration(files, authority, mode: .mtls)
            try files.write(try authority.identity(until: -0.5, usage: .clientAuth))
            let other = try authority.identity().key.serializeAsPEM().pemString
            try TestTLSFiles.write(other, files.key, mode: 0o666)
            tls.clientRootsPath = directory + "/nowhere"
            #expect(tls.problems().count == 5, "\(tls.problems())")
        }
    }

    @Test("files without tls.mode are a problem: nothing would use them")
    func unused() {
        var tls = ServerTLSConfiguration()
        #expect(tls.problems() == [])
        tls.certificatePath = "/a"
        tls.keyPath = "/b"
        tls.clientRootsPath = "/c"
        #expect(
            tls.problems().map { $0.prefix { $0 != " " } } == [
                "tls.certificate", "tls.key", "tls.client_roots",
            ])
    }

    private func configuration(
        _ files: TestTLSFiles, _ authority: TestAuthority,
        mode: ServerTLSConfiguration.Mode = .tls
    ) throws -> ServerTLSConfiguration {
        try files.write(try authority.identity())
        try files.write(roots: [authority.certificate])
        var tls = ServerTLSConfiguration()
        tls.mode = mode
        tls.certificatePath = files.certificate
        tls.keyPath = files.key
        if mode == .mtls { tls.clientRootsPath = files.clientRoots }
        return tls
    }

    /// The application is not created, so nothing is bound and the directory is untouched.
    private func expectNoStart(_ tls: ServerTLSConfiguration, in directory: String) async throws {
        var configuration = ServerConfiguration()
        configuration.dataDirectory = directory + "/data"
        configuration.tls = tls
        let broken = configuration
        await #expect(throws: ConfigurationError.self) {
            _ = try await Application(
                configuration: broken, build: Build(version: "test"),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                onListening: { _ in }, onFailure: { _ in })
        }
        #expect(!FileManager.default.fileExists(atPath: configuration.dataDirectory))
    }
}
