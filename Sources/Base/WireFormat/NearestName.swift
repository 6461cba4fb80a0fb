/// Finds the nearest of the names that are known.
package enum NearestName {
    /// What to add to the problem of an unknown name; empty where no known name is near.
    package static func suggestion(for name: String, among known: [String]) -> String {
        // Names are short: a longer one is no misspelling, and comparing costs its length.
        guard name.utf8.count <= 128 else { return "" }
        let most = 1 + name.utf8.count / 3
        // A word is at least as far away as it is longer or shorter.
        let near = known.filter { abs($0.utf8.count - name.utf8.count) <= most }
        let distances = near.map { (name: $0, distance: Self.distance(name, $0)) }
        // Of two that are as near, the one of the same length: a letter is mistyped more often.
        let nearest = distances.min { left, right in
            if left.distance != right.distance { return left.distance < right.distance }
            let length = name.utf8.count
            return abs(left.name.utf8.count - length) < abs(right.name.utf8.count - length)
        }
        guard let nearest, nearest.distance <= most else { return "" }
        return "; did you mean \(nearest.name)?"
    }

    /// How many bytes have to change to make one word of another (Levenshtein).
    package static func distance(_ left: String, _ right: String) -> Int {
        let right = Array(right.utf8)
        var row = Array(0...right.count)
        for (index, letter) in left.utf8.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let change = diagonal + (letter == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(change, row[column] + 1, row[column + 1] + 1)
            }
        }
        return row[right.count]
    }
}
