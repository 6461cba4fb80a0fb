// Tells the program what it was built from, also in an incremental build and without a network.
import Foundation
import PackagePlugin

/// Writes `BuildFacts.swift`: the version, the commit, whether the sources differ from it, and the
/// compiler. It is written again when HEAD moves or a source changes, and only where it differs.
@main
struct BuildFacts: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
        let package = context.package.directoryURL
        let script = package.appending(path: "Plugins/BuildFacts/facts.sh")
        let output = context.pluginWorkDirectoryURL.appending(path: "BuildFacts.swift")
        let compiler = try context.tool(named: "swiftc").url
        return [
            .buildCommand(
                displayName: "Reading the commit and the compiler's version",
                executable: URL(filePath: "/bin/sh"),
                arguments: [script.path, package.path, compiler.path, output.path],
                inputFiles: [script, package.appending(path: "VERSION")] + self.history(of: package)
                    + self.sources(context.package),
                outputFiles: [output])
        ]
    }

    /// What changes with each commit and each checkout; nothing outside git.
    private func history(of package: URL) -> [URL] {
        let git = package.appending(path: ".git")
        return ["HEAD", "logs/HEAD"].map { git.appending(path: $0) }
            .filter { FileManager.default.fileExists(atPath: $0.path) }
    }

    private func sources(_ package: Package) -> [URL] {
        package.targets.compactMap { $0 as? any SourceModuleTarget }
            .filter { $0.kind != .test }
            .flatMap { $0.sourceFiles.map(\.url) }
    }
}
