import Foundation

/// A row that can be measured.
struct Row: Decodable, Identifiable {
    let id: String
    let title: String
    let group: String
    /// Published tables that have it.
    let tables: [String]
}

/// All rows, in the library's order.
enum Catalogue {
    static let rows: [Row] = {
        guard let json = owned(latlas_rows())?.data(using: .utf8) else { return [] }
        return (try? JSONDecoder().decode([Row].self, from: json)) ?? []
    }()

    /// Groups in order, each with its rows.
    static let groups: [(name: String, rows: [Row])] = {
        var groups: [(name: String, rows: [Row])] = []
        for row in rows {
            if groups.last?.name == row.group {
                groups[groups.count - 1].rows.append(row)
            } else {
                groups.append((row.group, [row]))
            }
        }
        return groups
    }()

    static func rows(of table: String) -> Set<String> {
        Set(rows.filter { $0.tables.contains(table) }.map(\.id))
    }
}

/// A string of the library as one of Swift; frees it.
func owned(_ string: UnsafeMutablePointer<CChar>?) -> String? {
    guard let string else { return nil }
    defer { latlas_string_free(string) }
    return String(cString: string)
}
