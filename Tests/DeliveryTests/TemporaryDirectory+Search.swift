internal import Foundation
internal import TestSupport

extension TemporaryDirectory {
    /// The names of the files in which a word stands.
    func files(holding word: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: self.path).filter { name in
            try Data(contentsOf: URL(filePath: self.file(name)))
                .range(of: Data(word.utf8)) != nil
        }
    }
}
