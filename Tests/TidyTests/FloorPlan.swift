internal import Foundation

/// Which modules there are, and in which of the nine folders: as `Core/TrackingRules`.
struct FloorPlan: Equatable {
    let modules: Set<String>

    init(modules: Set<String>) { self.modules = modules }

    /// The modules that have Swift files.
    init(of files: [SourceFile]) { self.modules = Set(files.map { "\($0.folder)/\($0.module)" }) }

    /// The picture of a page: a folder at the left edge, and its modules indented below it. The
    /// modules in C, of which a picture has the folder alone, are left out.
    init(drawnIn page: String) {
        var modules: Set<String> = []
        for picture in page.components(separatedBy: "```") {
            var folder: String?
            for line in picture.split(separator: "\n") {
                guard let name = line.split(separator: " ").first.map(String.init) else { continue }
                if SourceRules.below[name] != nil, !line.hasPrefix(" ") {
                    folder = name
                } else if let folder, line.hasPrefix("  "), name != "Native" {
                    modules.insert("\(folder)/\(name)")
                }
            }
        }
        self.modules = modules
    }

    /// The paths in a manifest, those of the modules in C left out.
    init(builtBy manifest: String) {
        let parts = manifest.components(separatedBy: "\"").map {
            $0.hasPrefix("Sources/") ? String($0.dropFirst("Sources/".count)) : $0
        }
        self.modules = Set(
            parts.filter { part in
                let names = part.split(separator: "/")
                return names.count == 2 && SourceRules.below[String(names[0])] != nil
                    && names[1] != "Native"
            })
    }
}
