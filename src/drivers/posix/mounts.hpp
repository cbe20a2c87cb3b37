#pragma once

#include <string>
#include <string_view>

namespace tamis {

struct Mount {
  std::string point;    ///< empty: none found
  std::string type;     ///< "ext4", "nfs4", "lustre", ...
  std::string options;  ///< of this mount, comma-separated: "rw,noexec,relatime"
};

/// The mount that holds an absolute path without links: the longest mount point that the path
/// begins with, the last of equals, since that covers the others. `table` is the text of
/// /proc/self/mountinfo (proc(5)).
Mount mount_in(std::string_view table, std::string_view path);

/// The same in this process's table; none where it cannot be read.
Mount mount_of(std::string_view path);

/// The path behind a descriptor, without links; empty where the system does not tell.
std::string path_of(int fd);

}  // namespace tamis
